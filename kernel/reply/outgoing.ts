import type { ModelRequest } from '../data.ts';
import { CastError } from '../errors.ts';
import type { Refusal, StepContext } from '../hooks/subjects.ts';
import type { Session } from '../session/session.ts';

/** The last word about a request, whatever it is for: taps may change it, or keep it from being sent, which throws. */
export const outgoing = async (session: Session, draft: ModelRequest, at: StepContext): Promise<ModelRequest> => {
  const { refuse, ...request }: ModelRequest & { readonly refuse?: Refusal } = await session.hooks.waterfall('request', draft, at);
  if (refuse) throw new CastError(refuse.code, refuse.message, refuse.fix === undefined ? {} : { fix: refuse.fix });
  return request;
};
