"""The engine inside a program: it holds the store and drives runs itself."""
