"""The API's requests and answers as pydantic models: every limit is checked here, once, at the edge."""
