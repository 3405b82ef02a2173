"""Everything Assent knows about Qwen Code."""
