"""The HTTP edge: routing, identity, problems, the request's log line. Only here is Powertools imported."""
