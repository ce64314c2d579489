"""Versions: of this distribution, and of the releases whose interface it has."""

distribution = "0.1.0"
dftracer = "2.2.0"
pydftracer = "2.0.6"
