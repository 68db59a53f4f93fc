/** A turn has so many steps; the model is told before they run out. */

const WARNED = 4;

/** What to say at the top of a step; undefined when there is nothing to say. Once when four steps are left, once at the last. */
export const capReminder = (step: number, maxSteps: number): string | undefined => {
  if (maxSteps < WARNED) return undefined;
  const left = maxSteps - step + 1;
  if (left === WARNED) {
    return `This turn may make ${left} more steps, this one included. Begin to wrap up: finish what is most important, then answer with what is done and what is left.`;
  }
  if (left === 1) return 'This is the last step of this turn. Call no more tools: answer now with what is done and what is left.';
  return undefined;
};
