import { readFileSync } from 'node:fs'

/** What runs on the pages of customers. It is the same for all of them: the tag says whose it is. */
export const PIXEL_SCRIPT = readFileSync(new URL('pixel-script.js', import.meta.url), 'utf8')
