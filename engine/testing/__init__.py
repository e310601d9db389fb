"""What `runwright.testing` is made of: real transitions, a virtual clock, and stand-ins for agents and effects."""
