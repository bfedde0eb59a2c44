/** Text sizes of the grid. */
type Size = 12 | 13

/** Beyond it letters join, combine or run the other way, so that their widths do not add up. */
const LAST_PLAIN = 0x24f
/** Hinting and zoom make text a little wider than measured. */
const MARGIN = 1.03
const UNKNOWN = -1

const widths: Record<Size, Float32Array> = {
  12: new Float32Array(LAST_PLAIN + 1).fill(UNKNOWN),
  13: new Float32Array(LAST_PLAIN + 1).fill(UNKNOWN),
}
let canvas: CanvasRenderingContext2D | null = null

/**
 * Whether a line of text surely needs no more room than this. What fits is drawn without a clip, and clips are what frames of a
 * scrolling grid cost most.
 */
export function fitsIn(text: string, room: number, size: Size): boolean {
  let needed = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code > LAST_PLAIN) return false
    const known = widths[size][code] ?? UNKNOWN
    needed += (known === UNKNOWN ? measure(code, size) : known) * MARGIN
    if (needed > room) return false
  }
  return true
}

function measure(code: number, size: Size): number {
  canvas ??= document.createElement('canvas').getContext('2d')
  if (canvas === null) return Number.POSITIVE_INFINITY
  canvas.font = `${size}px ${getComputedStyle(document.documentElement).fontFamily}`
  // Numerals are tabular: each is as wide as the widest.
  const letters = code >= 48 && code <= 57 ? '0123456789' : String.fromCharCode(code)
  const measured = Math.max(...letters.split('').map((letter) => canvas?.measureText(letter).width ?? 0))
  widths[size][code] = measured
  return measured
}
