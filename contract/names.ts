/** Names that the specification leaves as placeholders, and the product's own (D1, D2). */
export const PRODUCT = 'Loam'
export const KEY_PREFIX = 'loam_'
export const STORE = 'records'
export const NET = 'linkedin'
export const SALES_NAV = 'sales_navigator'
export const SYSTEMS = [
  'hubspot',
  'salesforce',
  'pipedrive',
  'attio',
  'google_sheets',
  'snowflake',
  'slack',
  'typeform',
  'fireflies',
] as const
