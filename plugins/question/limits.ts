/** Bounds of a form: it has to fit on a screen. */
export const LIMITS = {
  questions: { least: 1, most: 5 },
  options: { least: 2, most: 4 },
  /** Characters of a question, and of the description of an option. */
  textChars: 1_000,
  /** Characters of a label and of a value. */
  labelChars: 200,
} as const;
