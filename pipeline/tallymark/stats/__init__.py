"""Statistics as pure functions of plain values."""
