/** The beginning of a line, where all of it would take too much room. Half a character is no text, and a provider may refuse a request that has one. */
export const shorten = (line: string, most: number): string => (line.length > most ? `${line.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…` : line);
