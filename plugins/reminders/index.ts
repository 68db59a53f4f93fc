import { checkedBy, definePlugin } from '../../kernel/index.ts';
import { capReminder } from './caps.ts';
import { dateReminder, isDue, localDate } from './dates.ts';
import { manifest } from './manifest.ts';
import { refusalOf, RepeatWindow } from './repeat.ts';

/** The newest date that the model was told; null before the first. */
const DATE = checkedBy<{ readonly date: string }>('a date', ({ date }) => typeof date === 'string');
/** How the last turn was interrupted; null once the model knows. */
const INTERRUPT = checkedBy<{ readonly detail: string | null }>('a detail', ({ detail }) => detail === null || typeof detail === 'string');

export default definePlugin({
  ...manifest,
  apply(scope) {
    const { hooks, events, session } = scope;
    const told = scope.state<string | null, typeof DATE>({ name: 'date', data: DATE, initial: null, fold: (_, { date }) => date });
    const interrupt = scope.state<string | null, typeof INTERRUPT>({ name: 'interrupt', data: INTERRUPT, initial: null, fold: (_, { detail }) => detail });

    let isShortened = false;
    events.on('compacted', () => {
      isShortened = true;
    });
    /** A compaction may have taken the reminder away. */
    const isForgotten = (date: string): boolean => {
      if (!isShortened) return false;
      isShortened = false;
      return !session
        .view()
        .some((message) => message.origin === manifest.name && message.blocks.some((block) => block.type === 'text' && block.text.includes(date)));
    };

    hooks.prepare.tap('the date', async () => {
      const today = localDate(scope.clock.now());
      const before = told.value;
      if (isDue(today, before)) {
        await scope.remind(dateReminder(today, before === null));
        await told.record({ date: today });
      } else if (before !== null && isForgotten(before)) await scope.remind(dateReminder(before, true));
    });

    hooks.prepare.tap('an interrupted turn', async () => {
      if (interrupt.value === null) return;
      await scope.remind(`The turn before was interrupted before it was done (${interrupt.value}). What it had begun may be half finished.`);
      await interrupt.record({ detail: null });
    });
    hooks.ended.tap('note an interruption', async (end) => {
      if (end.reason === 'aborted') await interrupt.record({ detail: end.detail ?? 'by the user' });
    });

    hooks.prepare.tap('steps run out', async ({ step, attempt }) => {
      // Prepared again after a compaction, which takes nothing that was said in its own step.
      if (attempt > 1) return;
      const text = capReminder(step, session.maxSteps);
      if (text !== undefined) await scope.remind(text);
    });

    const window = new RepeatWindow();
    events.on('input.accepted', () => window.reset());
    // Early, so that the call counts as the model wrote it, whatever later taps make of it.
    hooks.call.tap('watch for repeated calls', { stage: 'policy' }, (call) => window.see(call.id, call.tool, call.input));
    hooks.gate.tap('block a repeated call', { stage: 'policy' }, (call) => {
      if (!window.isBlocked(call.id)) return undefined;
      events.emit('doom_loop', { tool: call.tool, call: call.id });
      return { deny: refusalOf(call.tool), code: 'DOOM_LOOP' };
    });
  },
});
