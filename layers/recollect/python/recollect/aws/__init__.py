"""Adapters that speak to AWS; the only modules, with ``wiring``, that know botocore."""
