"""The embedded local cloud: an emulator on loopback, the CDK app deployed into it, and an issuer of tokens.

It decides nothing about the service: what runs here is the same app that deploys into an AWS account.
It never leaves the machine and never touches a real account: every child gets test credentials and a
loopback endpoint.
"""
