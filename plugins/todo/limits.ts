/** Bounds of this plugin, each with its reason. */
export const LIMITS = {
  /** Todos: the whole list is written again at each change. */
  todos: 100,
  /** Characters of a todo: it is one line for a reader. */
  contentChars: 500,
  /** Open todos that a note to the model names; of the others it gets the number. */
  named: 8,
  /** Nudges a prompt: a model that goes on stopping has its reasons. */
  nudges: 2,
} as const;
