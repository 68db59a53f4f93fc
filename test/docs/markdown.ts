/** The little Markdown that the reference pages need. */

/** A table whose cells may hold anything but line breaks. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
};

export const code = (text: string): string => `\`${text}\``;
export const block = (text: string): string => `\`\`\`ts\n${text}\n\`\`\``;

/** `300000` as `300,000`. */
export const figure = (value: number): string => value.toLocaleString('en-US');

/** Milliseconds for people. */
export const duration = (ms: number): string => (ms % 1000 === 0 ? `${figure(ms / 1000)} s` : `${figure(ms)} ms`);

export const page = (...parts: readonly string[]): string => `${['<!-- Made from the sources by docs/generate.mjs. -->', ...parts].join('\n\n')}\n`;
