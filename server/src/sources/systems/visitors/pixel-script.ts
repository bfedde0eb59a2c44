import { readFileSync } from 'node:fs'

/** The script that runs on customers' pages. It is the same for all of them; its tag names the source. */
export const PIXEL_SCRIPT = readFileSync(new URL('pixel-script.js', import.meta.url), 'utf8')
