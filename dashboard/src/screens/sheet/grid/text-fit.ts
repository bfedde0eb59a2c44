/** The font sizes of the grid, in pixels. */
type Size = 12 | 13

/** The last character code whose width can be summed. Beyond it, letters join, combine or run right to left. */
const LAST_PLAIN = 0x24f
/** The safety factor for widths. Hinting and zoom make text a little wider than measured. */
const MARGIN = 1.03
const UNKNOWN = -1

const widths: Record<Size, Float32Array> = {
  12: new Float32Array(LAST_PLAIN + 1).fill(UNKNOWN),
  13: new Float32Array(LAST_PLAIN + 1).fill(UNKNOWN),
}
let canvas: CanvasRenderingContext2D | null = null

/**
 * Returns true if a line of text certainly fits into the given width. Text that fits is drawn without clipping, which is the
 * most expensive part of a frame while the grid scrolls.
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

/** Forgets the widths of the local font that stands in until ours is loaded. */
function forgetWidths(): void {
  for (const known of Object.values(widths)) known.fill(UNKNOWN)
}

function measure(code: number, size: Size): number {
  if (canvas === null) {
    canvas = document.createElement('canvas').getContext('2d')
    document.fonts.addEventListener('loadingdone', forgetWidths)
  }
  if (canvas === null) return Number.POSITIVE_INFINITY
  canvas.font = `${size}px ${getComputedStyle(document.documentElement).fontFamily}`
  // Digits are tabular: each is as wide as the widest digit.
  const letters = code >= 48 && code <= 57 ? '0123456789' : String.fromCharCode(code)
  const measured = Math.max(...letters.split('').map((letter) => canvas?.measureText(letter).width ?? 0))
  widths[size][code] = measured
  return measured
}
