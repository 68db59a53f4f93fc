import type { CompactionForecast, SessionFace } from '../../kernel/index.ts';
import { LIMITS } from './limits.ts';
import type { Meter } from './meter.ts';
import { splitOf } from './split.ts';
import { NOTHING } from './summarise.ts';

export const forecast = async (session: SessionFace, meter: Meter, auto: boolean): Promise<CompactionForecast> => {
  const split = splitOf(await session.compactable(), session.view());
  const state = { auto, limit: Math.floor(meter.limit), ...meter.read() };
  return split ? { ...state, drops: split.dropped, droppedTokens: split.tokens } : { ...state, drops: [], droppedTokens: 0, why: NOTHING };
};
/** Whether a compaction that nobody asked for is worth its request. Where the one before did not help, it has to free something. */
export const isWorthwhile = async (session: SessionFace, meter: Meter): Promise<boolean> => {
  const { drops, droppedTokens } = await forecast(session, meter, true);
  return drops.length > 0 && (!meter.isStubborn || droppedTokens >= meter.limit * LIMITS.leastGain);
};
