"""The sizes n and d of the tables that parts 1 and 2 ask for."""

TABLES = [(12, 8), (13, 6), (17, 14)]
ODD_TABLES = [(12, 7), (11, 9)]
