"""The browser strategy: pages as a real Chromium shows them. Nothing in here is loaded before the first page needs it."""
