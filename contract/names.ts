/** The names of the product and of the specification's placeholders (D1, D2). */
export const PRODUCT = 'Loam'
export const KEY_PREFIX = 'loam_'
export const STORE = 'records'
