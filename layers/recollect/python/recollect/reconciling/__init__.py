"""The rules that reconciling is made of: how a statement is read, and what two readings say about each other."""
