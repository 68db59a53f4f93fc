/** What anybody may have written must not look like a note of cast itself, which the model is told to heed. */
export const asData = (text: string): string => text.replace(/<(?=\s*\/?\s*system-reminder\b)/gi, '&lt;');
