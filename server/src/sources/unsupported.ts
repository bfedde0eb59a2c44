const NO_PROVIDER = 'no provider is known whose answers could be checked against public documentation'
const NO_PIXEL = 'visits are not collected yet'

/** Kinds of the specification that nothing serves yet, and why: callers are told so, instead of that there is no such kind. */
export const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ['find_companies_from_sales_navigator', NO_PROVIDER],
  ['find_people_from_sales_navigator', NO_PROVIDER],
  ['track_website_visitors', NO_PIXEL],
  ['track_personal_website_visitors', NO_PIXEL],
])
