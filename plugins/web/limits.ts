/** Bounds of the web tools that nobody needs to change, each with its reason. */
export const LIMITS = {
  /** Bytes of a body, decompressed: nothing that is meant to be read is longer, and all of it is held in memory. */
  bodyBytes: 5 * 1024 * 1024,
  /** Bytes of what a search engine answers, and of what is read of an error. */
  answerBytes: 1024 * 1024,
  errorBytes: 16 * 1024,
  /** Characters of HTML of which a tree is made: one of 5 million takes 20 seconds and 700 MB. */
  htmlChars: 1024 * 1024,
  /** Elements among which an article is looked for: it has fewer, and the search takes seconds for more. */
  articleElements: 10_000,
  /** Milliseconds that the conversion of a page has, of which a normal one needs a tenth. */
  convertMs: 8_000,
  /** Conversions at a time in this process, MiB of heap and stack of each. The trees of nested pages are walked by recursion. */
  threads: 2,
  heapMb: 256,
  stackMb: 16,
  /** Redirects of one page. */
  hops: 5,
  /** UTF-8 bytes of the text of a page: the kernel cuts results at 262,144. */
  textBytes: 240_000,
  /** Characters of a title, of a snippet, and of what an error says. */
  titleChars: 300,
  /** Characters of the address of a hit: what is longer says its page in it, and no server takes much more. */
  urlChars: 4_096,
  snippetChars: 1_000,
  detailChars: 500,
  /** Milliseconds until the reader is asked again, once. */
  retryMs: 500,
  /** Milliseconds that a search is remembered, and how many are. */
  cacheMs: 600_000,
  cached: 100,
  /** Characters of a query: Tavily and Brave refuse longer ones. */
  queryChars: 400,
} as const;
