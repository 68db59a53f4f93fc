import { CastError, isProviderError, messageOf, type ErrorCode, type ProviderFailure } from '../errors.ts';
import type { Broken } from './listen.ts';

const CODES: Readonly<Record<ProviderFailure, ErrorCode>> = {
  overflow: 'MODEL_OVERFLOW',
  rate: 'MODEL_RATE',
  overload: 'MODEL_OVERLOADED',
  network: 'MODEL_UNREACHABLE',
  stall: 'MODEL_UNREACHABLE',
  auth: 'MODEL_AUTH',
  quota: 'MODEL_QUOTA',
  refused: 'REFUSED',
  not_found: 'MODEL_NOT_FOUND',
  bad_request: 'MODEL_BAD_REQUEST',
  cut: 'CUT_OFF',
  empty: 'EMPTY_REPLY',
  other: 'MODEL_FAILED',
};
/** The error with which a turn ends when nobody can repair what the provider did. */
export const failed = (heard: Broken, stop: string | undefined): CastError => {
  const isBroken = heard.began && (heard.kind === 'network' || heard.kind === 'stall');
  const fix = isProviderError(heard.error) ? heard.error.fix : undefined;
  return new CastError(isBroken ? 'DISCONNECTED' : CODES[heard.kind], stop ?? messageOf(heard.error), {
    cause: heard.error,
    ...(fix === undefined ? {} : { fix }),
  });
};
