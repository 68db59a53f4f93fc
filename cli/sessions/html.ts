/** A session as one HTML file that needs no network and runs nothing. */
import type { Block, Entry, SessionRecord } from '../../kernel/index.ts';
import { plainLines } from '../style.ts';
import { dateOf, titleOf } from './transcript.ts';

/** Images of these kinds are shown; whatever else calls itself an image is only named. */
const IMAGES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

const escaped = (text: string): string => plainLines(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const STYLE = `
:root { color-scheme: light dark; --back: #fbfaf8; --text: #23211d; --soft: #6d685f; --line: #dfdad0; --card: #fff; --mine: #eef3fb; --bad: #a8322a; }
@media (prefers-color-scheme: dark) { :root { --back: #191a1c; --text: #e4e2dd; --soft: #9a968d; --line: #35363a; --card: #212226; --mine: #242c3a; --bad: #ef8a80; } }
body { background: var(--back); color: var(--text); font: 16px/1.6 system-ui, sans-serif; margin: 0 auto; max-width: 50rem; padding: 2rem 1rem 5rem; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0; overflow-wrap: anywhere; }
header p, h2 { color: var(--soft); font-size: .85rem; margin: .3rem 0; overflow-wrap: anywhere; }
article { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; margin: 1rem 0; padding: .5rem 1rem .8rem; }
article.user { background: var(--mine); }
.text { margin: .4rem 0; overflow-wrap: anywhere; white-space: pre-wrap; }
details { border-left: 3px solid var(--line); color: var(--soft); margin: .5rem 0; padding-left: .8rem; }
summary { cursor: pointer; } .bad { color: var(--bad); }
pre { font: .8rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; }
img { max-width: 100%; }`;

export const htmlStart = (record: SessionRecord): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${escaped(titleOf(record))}</title>
<style>${STYLE}
</style>
</head>
<body>
<header><h1>${escaped(titleOf(record))}</h1><p>${escaped(`${record.id} · ${dateOf(record.createdAt)} · ${record.model} · ${record.cwd}`)}</p></header>
`;
export const htmlEnd = '</body>\n</html>\n';

export const htmlEntry = (entry: Entry): string => {
  if (entry.kind === 'compaction')
    return `<details><summary>What came before was summarised</summary><div class="text">${escaped(entry.data.summary)}</div></details>\n`;
  if (entry.kind !== 'message' || entry.data.reminder) return '';
  const { role, origin, blocks, incomplete } = entry.data;
  const parts = blocks.map(blockHtml).join('');
  if (parts === '' || role === 'tool') return parts;
  const speaker = role === 'assistant' ? 'Assistant' : origin === 'user' ? 'You' : origin;
  return `<article class="${role}"><h2>${escaped(speaker)}${incomplete ? ' (broke off)' : ''}</h2>${parts}</article>\n`;
};

const blockHtml = (block: Block): string => {
  if (block.type === 'text') return block.text.trim() === '' ? '' : `<div class="text">${escaped(block.text.trim())}</div>`;
  if (block.type === 'call') return `<details><summary>→ ${escaped(block.tool)}</summary><pre>${escaped(block.arguments)}</pre></details>`;
  if (block.type === 'result') {
    const state = block.status === 'ok' ? '' : ` <span class="bad">${escaped(block.status)}</span>`;
    return `<details><summary>${escaped(block.tool)}${state}</summary><pre>${escaped(block.content)}</pre></details>\n`;
  }
  if (block.type !== 'image') return '';
  const { mediaType, data } = block.image;
  const isShown = IMAGES.includes(mediaType) && /^[A-Za-z0-9+/=]*$/.test(data);
  return isShown ? `<p><img alt="" src="data:${mediaType};base64,${data}"></p>` : `<p>(${escaped(mediaType)})</p>`;
};
