"""What goes between processes: frames, parts of what is larger than a frame, and classes as tagged JSON."""
