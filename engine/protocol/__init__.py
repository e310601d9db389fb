"""The client protocol `runwright.client.v1`: envelopes, operations with payloads and answers, the socket's place."""
