"""How fast Tarantella is, beside the fastest loop we can write and beside Scrapy."""
