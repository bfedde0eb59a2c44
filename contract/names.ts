/** Names that the specification leaves as placeholders, and the product's own (D1, D2). */
export const PRODUCT = 'Loam'
export const KEY_PREFIX = 'loam_'
export const STORE = 'records'
