/** The one place that loads the native module. */
import BetterSqlite3 from 'better-sqlite3';

export type Database = BetterSqlite3.Database;
export type Statement<P extends unknown[], R> = BetterSqlite3.Statement<P, R>;

export const Sqlite = BetterSqlite3;
