/** Whether a refusal has to do with images, from its kind, its status and its wording. */
import { type Failure, isProviderError, messageOf } from '../../kernel/index.ts';

/**
 * `unable`: the model takes no images at all. `doubtful`: it may be the images.
 * `bulk`: the request has too many bytes or too many images. Undefined: something else.
 */
export type Verdict = 'unable' | 'doubtful' | 'bulk' | undefined;

const SIGHT = '(images?\\b|image_url|input_image|vision|multi-?modal)';
const UNABLE = new RegExp(
  [
    `${SIGHT}[^.]{0,60}(not (yet )?(supported|allowed|available|enabled|accepted)|unsupported|(does|do|is|are)n['o]?t)`,
    `(not|n['o]t|no|cannot|unable to|without)\\b[^.]{0,60}(support|accept|allow|process|handle|take|understand|capab|find)[^.]{0,40}${SIGHT}`,
    `${SIGHT}[^.]{0,30}only (supported|available)`,
    `(found|endpoints?|models?) that supports?[^.]{0,20}${SIGHT}`,
    'unknown variant .{0,3}image_url',
    'is not a (multi-?modal|vision) model',
    'mmproj',
  ].join('|'),
);
/** About one image rather than about images. */
const ONE_IMAGE =
  /(could not|unable to|failed to) (process|read|load)|format|mime|media.?type|decod|corrupt|dimension|pixel|resolution|base64|download|fetch|url scheme/;
const TOO_MANY =
  /too many images|(number|count|total size) of images|images\b.{0,60}(exceed|too large|larger than|maximum (allowed )?(size|number))|at most \d+ images/;
const TOO_MANY_BYTES = /(entity|payload|body|content|request)\b.{0,20}too (large|big)|request_too_large|(body|payload|request)\b.{0,60}\b(bytes|[mk]i?b)\b/;
/** Of a limit on tokens, for which some hosts have the same status and nearly the same words. */
const TOKENS = /token|\btp[md]\b|context (length|limit|size)|rate.?limit/;
const DOUBTFUL_STATUSES: ReadonlySet<number | undefined> = new Set([400, 404, 415, 422]);
const MAY_BE_ANYTHING: ReadonlySet<Failure['kind']> = new Set(['bad_request', 'not_found', 'other']);
/** Of these the wording says nothing about the request. */
const NEVER: ReadonlySet<Failure['kind']> = new Set(['auth', 'quota', 'rate', 'network', 'stall', 'cut', 'empty', 'refused']);

export const verdictOn = ({ kind, error }: Pick<Failure, 'kind' | 'error'>): Verdict => {
  if (NEVER.has(kind)) return undefined;
  const said = messageOf(error).toLowerCase();
  const status = isProviderError(error) ? error.status : undefined;
  if (isBulk(kind, status, said)) return 'bulk';
  if (kind === 'overflow') return undefined;
  if (UNABLE.test(said) && !ONE_IMAGE.test(said)) return 'unable';
  const isDoubtful = MAY_BE_ANYTHING.has(kind) && (DOUBTFUL_STATUSES.has(status) || new RegExp(SIGHT).test(said));
  return isDoubtful ? 'doubtful' : undefined;
};

const isBulk = (kind: Failure['kind'], status: number | undefined, said: string): boolean =>
  (kind === 'overflow' || kind === 'bad_request') && !TOKENS.test(said) && (status === 413 || TOO_MANY_BYTES.test(said) || TOO_MANY.test(said));
