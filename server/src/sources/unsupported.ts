const NO_PIXEL = 'visits are not collected yet'

/** Kinds of the specification that nothing serves yet, and why: callers are told so, instead of that there is no such kind. */
export const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ['track_website_visitors', NO_PIXEL],
  ['track_personal_website_visitors', NO_PIXEL],
])
