/** The rows of sessions. */
import { CastError, type SessionPatch, type SessionRecord } from '../../kernel/index.ts';
import type { Connection } from './database.ts';
import { isDamage } from './failure.ts';
import { folderOf } from './files.ts';
import { recordOf, SESSION_COLUMNS, type SessionRow } from './tables.ts';

export const unknownSession = (id: string): CastError =>
  new CastError('SESSION_UNKNOWN', `There is no session ${id}.`, { fix: 'Run `cast sessions list` to see those there are.' });

export const findSession = (connection: Connection, id: string): SessionRecord | undefined => {
  const row = connection.prepare<[string], SessionRow>(`SELECT ${SESSION_COLUMNS.join(', ')} FROM sessions WHERE id = ?`).get(id);
  return row && recordOf(row);
};

/** What an append goes on from. */
export type Standing = Pick<SessionRow, 'title' | 'messages' | 'head' | 'last_seq'>;

export const standingOf = (connection: Connection, id: string): Standing | undefined =>
  connection.prepare<[string], Standing>('SELECT title, messages, head, last_seq FROM sessions WHERE id = ?').get(id);

export const insertSession = (connection: Connection, record: SessionRecord): void => {
  const insert = connection.prepare<[SessionRow]>(
    `INSERT INTO sessions (${SESSION_COLUMNS.join(', ')}) VALUES (${SESSION_COLUMNS.map((column) => `@${column}`).join(', ')})`,
  );
  insert.run({
    id: record.id,
    cwd: record.cwd,
    root: record.root,
    title: record.title,
    model: record.model,
    provider: record.provider,
    parent_id: record.parent,
    kind: record.kind,
    pinned: record.pinned ? 1 : 0,
    head: null,
    last_seq: 0,
    messages: 0,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    folder: folderOf(record.root),
  });
};

/** The time of the last change stays: a session that was only renamed or pinned is not the newest conversation. */
export const patchSession = (connection: Connection, id: string, patch: SessionPatch): void => {
  const update = connection.prepare<[object]>(`
    UPDATE sessions SET
      cwd = coalesce(@cwd, cwd), root = coalesce(@root, root), title = coalesce(@title, title),
      model = coalesce(@model, model), folder = coalesce(@folder, folder), provider = coalesce(@provider, provider), pinned = coalesce(@pinned, pinned)
    WHERE id = @id`);
  const { cwd = null, root = null, title = null, model = null, provider = null, pinned } = patch;
  const { changes } = update.run({
    id,
    cwd,
    root,
    folder: root === null ? null : folderOf(root),
    title,
    model,
    provider,
    pinned: pinned === undefined ? null : Number(pinned),
  });
  if (changes === 0) throw unknownSession(id);
};

/** Its entries, messages and lease go with it, and so do the sessions of its subagents. */
export const deleteSession = (connection: Connection, id: string): void => {
  const remove = connection.prepare<[string]>(`
    WITH RECURSIVE gone (id) AS (
      SELECT ? UNION SELECT sessions.id FROM sessions JOIN gone ON sessions.parent_id = gone.id WHERE sessions.kind = 'child'
    )
    DELETE FROM sessions WHERE id IN (SELECT id FROM gone)`);
  if (remove.run(id).changes === 0) throw unknownSession(id);
};

/**
 * Sessions whose project was moved here, or is opened under another name of its folder, get the path that it has now.
 * What cannot be written is left as it is: it is found by its folder all the same.
 */
export const followFolder = (connection: Connection, root: string): void => {
  const folder = folderOf(root);
  if (folder === null) return;
  const moved = connection.prepare<[string, string]>('SELECT 1 FROM sessions WHERE folder = ? AND root <> ? LIMIT 1').get(folder, root);
  const unknown = connection.prepare<[string]>('SELECT 1 FROM sessions WHERE root = ? AND folder IS NULL LIMIT 1').get(root);
  if (!moved && !unknown) return;
  try {
    connection.atomic(() => {
      connection
        .prepare<[object]>(`
          UPDATE sessions SET root = @root, cwd = CASE
            WHEN cwd = root THEN @root
            WHEN substr(cwd, 1, length(root) + 1) = root || '/' THEN @root || substr(cwd, length(root) + 1)
            ELSE cwd END
          WHERE folder = @folder AND root <> @root`)
        .run({ root, folder });
      // From before folders were noted.
      connection.prepare<[string, string]>('UPDATE sessions SET folder = ? WHERE root = ? AND folder IS NULL').run(folder, root);
    });
  } catch (error) {
    if (isDamage(error)) throw error;
  }
};
