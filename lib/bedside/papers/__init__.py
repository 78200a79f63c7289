"""What is peculiar to each paper: record to messages, reply to score, its metrics."""
