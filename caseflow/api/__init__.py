"""The REST face. It reads requests, calls services and selectors, and shows what they say; it decides nothing."""
