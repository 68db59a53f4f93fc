/** What a search looks through: the words of what people and models said, and every three characters of it. Written together with the message. */
import { foldText, saidIn, wordsIn, type Entry } from '../../kernel/index.ts';
import { BACKLOG, SEARCH_TABLES } from './migrations.ts';
import type { Connection } from './database.ts';
import type { Database } from './native.ts';
import type { SessionRow } from './tables.ts';

/** Messages from before the search have numbers up to this one, later ones above. */
const FIRST_ID = 4_294_967_296;
/** Characters of a message that are found by a part of a word: 70 µs go for each 300. */
const PARTS_CHARS = 32_768;

/** A user looks for conversations: what subagents and background tasks say is found in their parent's reply. */
export const isSearched = (kind: SessionRow['kind']): boolean => kind === 'conversation';

/** To be called in the transaction that writes the entry. */
export const indexEntry = (connection: Connection, session: string, entry: Entry): void => {
  if (entry.kind !== 'message') return;
  const text = saidIn(entry.data);
  if (text === '') return;
  const newest = connection.prepare<[], { id: number | null }>('SELECT max(id) AS id FROM search_messages').get()?.id ?? 0;
  indexText(connection, Math.max(newest, FIRST_ID) + 1, session, entry.seq, text);
};

export const indexText = (connection: Connection, id: number, session: string, seq: number, text: string): void => {
  const { changes } = connection
    .prepare<unknown[]>('INSERT OR IGNORE INTO search_messages (id, session_id, seq, chars) VALUES (?, ?, ?, ?)')
    .run(id, session, seq, text.length);
  if (changes === 0) return;
  const folded = foldText(text);
  connection.prepare<unknown[]>('INSERT INTO search_words (rowid, words) VALUES (?, ?)').run(id, [wordOf(session), ...wordsIn(folded)].join(' '));
  connection.prepare<unknown[]>('INSERT INTO search_parts (rowid, text) VALUES (?, ?)').run(id, folded.slice(0, PARTS_CHARS).replaceAll('\0', ' '));
};

/** Marks the messages of a session, so that one question is answered for some sessions only. Begins with a sign that no word of a text has. */
export const wordOf = (session: string): string => `\ue000${session.toLowerCase().replace(/[^a-z0-9]/g, '')}`;

/** Makes all that is stored wait to be indexed, in an index that is empty. */
export const indexLater = (connection: Connection): void => {
  connection.db.exec(BACKLOG);
};

/** For an index that is damaged: whatever it says is in the messages. */
export const renewIndex = (db: Database): void =>
  db
    .transaction(() => {
      db.exec(`
        DROP TRIGGER search_forgets; DROP TABLE search_vocabulary; DROP TABLE search_words;
        DROP TABLE search_parts; DROP TABLE search_messages; DROP TABLE search_backlog`);
      db.exec(SEARCH_TABLES);
    })
    .immediate();
