"""A graph in a schema of a PostgreSQL database."""

from enfold.store.postgresql.store import PostgresqlStore

__all__ = ["PostgresqlStore"]
