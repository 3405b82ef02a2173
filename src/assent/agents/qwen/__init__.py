"""All that Assent knows of Qwen Code."""
