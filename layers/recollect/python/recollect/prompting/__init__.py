"""Prompting: what models are asked, and how what they answer is read. Pure; the prompts are files of their own."""
