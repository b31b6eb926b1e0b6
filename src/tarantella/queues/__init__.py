"""How a worker hears of work. A hint says "look now"; lost or doubled, it changes nothing."""
