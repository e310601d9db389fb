"""Facts that follow from events: control rows that commit with them, views that follow later."""
