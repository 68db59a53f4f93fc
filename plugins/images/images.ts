/** Which images of a conversation a model gets, and what is tried without them when it refuses a request. */
import { type Failure, type Message, type ModelRequest, type Recovery, type Scope, type SessionFace, withoutImages } from '../../kernel/index.ts';
import { bytesOf, hasImages, type Held, heldIn, imagesOf, olderHalf, otherBytesIn } from './held.ts';
import { verdictOn } from './refusal.ts';

/** Halvings for one reply: of any number of images less than one in 200 is left then. */
const MAX_HALVINGS = 8;
/** Share of a request's bytes below which images are not what makes it too large. */
const LEAST_SHARE = 0.2;

const UNSEEN_NOTE = '[Images were left out here: the model takes none, or refused these.]';
const BULK_NOTE = '[Images were left out here: the request had grown too large. Read the file again if you need to see one.]';

export interface ImagesParts extends Pick<Scope<unknown, never>, 'notice' | 'warn'> {
  readonly session: SessionFace;
  /** Models that were found to take no images, as `provider/model`. */
  readonly blind: Set<string>;
  /** Whether it is known of the model without asking it. */
  readonly isKnownBlind: (provider: string, model: string) => boolean;
}
type Route = Pick<ModelRequest, 'provider' | 'model'>;
/** A request is made without images, to see whether they were what a provider refused. */
interface Trial extends Route {
  /** The provider said so itself. */
  readonly isCertain: boolean;
}

export interface Images {
  fit(request: Pick<ModelRequest, 'provider' | 'model' | 'messages'>): { messages: readonly Message[] } | undefined;
  recover(failure: Failure): Promise<Recovery | undefined>;
  /** A reply has come: what was left out on trial stays out. */
  confirm(): Promise<void>;
  /** A new input or a new step: everything may be tried again. */
  reset(): void;
}

export const createImages = ({ session, notice, warn, blind, isKnownBlind }: ImagesParts): Images => {
  let trial: Trial | undefined;
  let hasTried = false;
  let halvings = 0;
  /** Models about which the user was warned. */
  const warned = new Set<string>();
  /** Models that stood in for that of the session and answered once the images were gone. */
  const unsure = new Set<string>();

  const isBlind = (route: Route): boolean => blind.has(nameOf(route)) || unsure.has(nameOf(route)) || isKnownBlind(route.provider, route.model);
  const isOwn = ({ provider, model }: Route): boolean => provider === session.provider && model === session.model;
  const warnOnce = (route: Route): void => {
    if (warned.has(nameOf(route))) return;
    warned.add(nameOf(route));
    warn(`The model ${route.model} takes no images: it gets the conversation without them.`, 'IMAGES_NOT_TAKEN');
  };
  const mask = async (held: readonly Held[], note: string): Promise<void> => {
    for (const { entry } of held) await session.mask(entry, note, 'images');
  };

  const halve = async (held: readonly Held[]): Promise<Recovery | undefined> => {
    const bytes = bytesOf(held);
    if (halvings >= MAX_HALVINGS || bytes < LEAST_SHARE * (bytes + otherBytesIn(session.view()))) return undefined;
    halvings++;
    const dropped = olderHalf(held);
    await mask(dropped, BULK_NOTE);
    notice(`The request is too large: the oldest images were left out (${imagesOf(dropped)} of ${imagesOf(held)}).`, 'IMAGES_DROPPED');
    return { retry: { reason: 'the request is too large' } };
  };

  const tryWithout = ({ provider, model }: Route, isCertain: boolean): Recovery | undefined => {
    if (hasTried) {
      // It was not the images: they are back in the next request.
      trial = undefined;
      return undefined;
    }
    hasTried = true;
    trial = { provider, model, isCertain };
    return { retry: { reason: isCertain ? `${model} takes no images` : 'the request was refused, which may be because of its images' } };
  };

  return {
    fit: (request) => {
      const isKnown = isBlind(request);
      // Another model may be asked instead, and its reply says nothing about the first.
      if (trial && nameOf(trial) !== nameOf(request)) trial = undefined;
      if (!(isKnown || trial) || !request.messages.some(hasImages)) return undefined;
      if (isKnown) warnOnce(request);
      return { messages: request.messages.map((message) => withoutImages(message, UNSEEN_NOTE)) };
    },
    recover: async (failure) => {
      const verdict = verdictOn(failure);
      const held = heldIn(session.view());
      if (verdict === undefined || held.length === 0 || isBlind(failure)) return undefined;
      return verdict === 'bulk' ? halve(held) : tryWithout(failure, verdict === 'unable');
    },
    confirm: async () => {
      if (!trial) return;
      const { isCertain, ...route } = trial;
      trial = undefined;
      const held = heldIn(session.view());
      // Another model only stands in: what it cannot see is for the one of the session to see again.
      if (isOwn(route)) await mask(held, UNSEEN_NOTE);
      if (isCertain) {
        blind.add(nameOf(route));
        return warnOnce(route);
      }
      if (!isOwn(route)) {
        unsure.add(nameOf(route));
        warned.add(nameOf(route));
      }
      warn(`${route.model} refused the request with its images (${imagesOf(held)}) and took it without them: they are left out.`, 'IMAGES_DROPPED');
    },
    reset: () => {
      trial = undefined;
      hasTried = false;
      halvings = 0;
    },
  };
};

const nameOf = ({ provider, model }: Route): string => `${provider}/${model}`;
