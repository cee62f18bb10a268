"""From the bytes that callers have to messages: chat messages as JSON, documents, and logs of who said what. Pure."""
