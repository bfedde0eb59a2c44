import type { ComponentType, SVGProps } from 'react'

export type Icon = ComponentType<SVGProps<SVGSVGElement>>

/** Returns an icon from a path on a 16 by 16 grid. It is drawn as lines in the colour of the surrounding text. */
function draw(path: string): Icon {
  return (props) => (
    <svg
      width={16}
      height={16}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      {...props}
    >
      <path d={path} />
    </svg>
  )
}

const DISC = 'M8 2a6 6 0 1 0 0 12 6 6 0 0 0 0-12z'
const SHEET_OF_PAPER = 'M9 1.5H3.5v13h9V5zM9 1.5V5h3.5'
const PERSON = 'M6 2.5a2.75 2.75 0 1 0 0 5.5 2.75 2.75 0 0 0 0-5.5zM1 13.5a5 5 0 0 1 10 0'

export const Activity = draw('M1.5 8.5h3l2-5.5 3.5 10 2-4.5h2.5')
export const ArrowDown = draw('M8 2.5v11M3.5 9 8 13.5 12.5 9')
export const ArrowLeft = draw('M13.5 8h-11M7 3.5 2.5 8 7 12.5')
export const ArrowRight = draw('M2.5 8h11M9 3.5 13.5 8 9 12.5')
export const ArrowUp = draw('M8 13.5v-11M3.5 7 8 2.5 12.5 7')
export const BarChart3 = draw('M2 2v12h12M5.5 11V8.5M8.75 11V4.5M12 11V6.5')
export const Braces = draw(
  'M6 2.5H5A1.5 1.5 0 0 0 3.5 4v2.5L2 8l1.5 1.5V12A1.5 1.5 0 0 0 5 13.5h1M10 2.5h1A1.5 1.5 0 0 1 12.5 4v2.5L14 8l-1.5 1.5V12a1.5 1.5 0 0 1-1.5 1.5h-1',
)
export const Building2 = draw('M4 14V2.5h6V14M10 6.5h3.5V14M1.5 14h13M6 5.5h2M6 8.5h2M6 11.5h2')
export const CalendarDays = draw('M2 3.5h12v10.5H2zM2 7h12M5.5 1.5v3M10.5 1.5v3')
export const Check = draw('M3 8.5 6.5 12 13 4.5')
export const CheckSquare = draw('M2.5 2.5h11v11h-11zM5 8l2.25 2.25L11 6')
export const ChevronDown = draw('M4 6l4 4 4-4')
export const CircleAlert = draw(`${DISC}M8 5v3.5M8 11v.01`)
export const CircleX = draw(`${DISC}M6 6l4 4M10 6l-4 4`)
export const Clock = draw(`${DISC}M8 4.5V8l2.5 1.5`)
export const Coins = draw(
  'M6 1.75a4.25 4.25 0 1 0 0 8.5 4.25 4.25 0 0 0 0-8.5zM11.6 6.05a4.25 4.25 0 1 1-5.55 5.55',
)
export const Columns3 = draw('M2 3h12v10H2zM6 3v10M10 3v10')
export const Copy = draw('M6 5.5h7.5V14H6zM10.5 5.5V2h-8v8.5H6')
export const Download = draw('M8 2v8.5M4.5 7 8 10.5 11.5 7M2.5 13.5h11')
export const EyeOff = draw(
  'M2 2l12 12M6.5 4a6 6 0 0 1 1.5-.2c3 0 5.2 2 6.3 4.2-.4.8-.9 1.5-1.6 2.2M4.2 5C3.2 5.8 2.3 6.8 1.7 8c1.1 2.2 3.3 4.2 6.3 4.2 1.1 0 2.1-.3 3-.7M6.6 6.7a2 2 0 0 0 2.7 2.8',
)
export const FileDown = draw(`${SHEET_OF_PAPER}M8 7v4.5M6 9.5l2 2 2-2`)
export const FileUp = draw(`${SHEET_OF_PAPER}M8 11.5V7M6 9l2-2 2 2`)
export const Filter = draw('M1.5 2.5h13l-5 6V13l-3 1.5v-6z')
const dot = (x: number, y: number) => `M${x} ${y - 0.35}a.35.35 0 1 0 0 .7.35.35 0 0 0 0-.7z`
export const Globe = draw(
  `${DISC}M2 8h12M8 2c2 1.7 2.75 3.7 2.75 6S10 12.3 8 14M8 2C6 3.7 5.25 5.7 5.25 8S6 12.3 8 14`,
)
export const GripVertical = draw([6, 10].flatMap((x) => [3.5, 8, 12.5].map((y) => dot(x, y))).join(''))
export const Hash = draw('M2.5 5.75h11M2.5 10.25h11M6.5 2.5 5 13.5M11 2.5 9.5 13.5')
export const KeyRound = draw('M10.5 1.5a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM7.7 8.3l-5.95 5.95M4.25 11.75l2 2')
export const Link2 = draw('M6.5 11.5h-2a3.5 3.5 0 0 1 0-7h2M9.5 4.5h2a3.5 3.5 0 0 1 0 7h-2M5.5 8h5')
export const ListChecks = draw(
  'M1.5 4l1.25 1.25L5 3M1.5 11.5l1.25 1.25L5 10.5M8 4.25h6.5M8 11.75h6.5M8 8h6.5',
)
export const LoaderCircle = draw('M14 8a6 6 0 1 1-4-5.66')
export const LogOut = draw('M6 14H2.5V2H6M10.5 11.5 14 8l-3.5-3.5M14 8H6')
export const Mail = draw('M1.5 3.5h13v9h-13zM1.5 4.5 8 9l6.5-4.5')
export const Monitor = draw('M1.5 2.5h13V11h-13zM8 11v3M5 14h6')
export const MonitorSmartphone = draw('M8.5 11h-7V2.5H13v2M5 14h3.5M10.5 6.5h4V14h-4z')
export const Moon = draw('M13.5 9.5a6 6 0 1 1-7-7 4.75 4.75 0 0 0 7 7z')
export const MoreHorizontal = draw([3, 8, 13].map((x) => dot(x, 8)).join(''))
export const Pencil = draw('M10.5 2.5l3 3-8 8-3.5.5.5-3.5zM8.5 4.5l3 3')
export const Play = draw('M4 2.5 13 8l-9 5.5z')
export const Plug = draw('M5.5 1.5v4M10.5 1.5v4M3.5 5.5h9V8a4.5 4.5 0 0 1-9 0zM8 12.5V15')
export const Plus = draw('M8 3v10M3 8h10')
export const Redo2 = draw('M10 2.5 13.5 6 10 9.5M13.5 6H6a3.75 3.75 0 0 0 0 7.5h3.5')
export const RotateCcw = draw('M2 2.5V6h3.5M2.3 6A6 6 0 1 1 2 8.5')
export const Rows3 = draw('M2 3h12v10H2zM2 6.33h12M2 9.67h12')
export const ScrollText = draw('M3.5 1.5h9v13h-9zM6 5h4M6 8h4M6 11h2.5')
export const Settings = draw(
  'M8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM8 3.4a4.6 4.6 0 1 0 0 9.2 4.6 4.6 0 0 0 0-9.2zM8 1.5v1.9M8 12.6v1.9M1.5 8h1.9M12.6 8h1.9M3.4 3.4l1.35 1.35M11.25 11.25l1.35 1.35M12.6 3.4l-1.35 1.35M4.75 11.25 3.4 12.6',
)
export const Settings2 = draw(
  'M2 5h7M13 5h1M2 11h1M7 11h7M11 3a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM5 9a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
)
export const SkipForward = draw('M3 3l7.5 5L3 13zM13 3v10')
export const Snowflake = draw('M8 1.5v13M2.4 4.75l11.2 6.5M13.6 4.75l-11.2 6.5M6 2.5l2 2 2-2M6 13.5l2-2 2 2')
export const Sparkles = draw('M7 3l1.5 4 4 1.5-4 1.5L7 14l-1.5-4-4-1.5 4-1.5zM12.75 1.25v3M11.25 2.75h3')
export const Square = draw('M3.5 3.5h9v9h-9z')
export const Sun = draw(
  'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
)
export const Table2 = draw('M2 2.5h12v11H2zM2 6.5h12M7 6.5v7')
export const Trash2 = draw('M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.75 9.5h6.5L12 4.5M6.75 7.5V11M9.25 7.5V11')
export const TriangleAlert = draw('M8 2l6.5 11.5h-13zM8 6.5v3M8 11.5v.01')
export const Type = draw('M3 5V3h10v2M8 3v10M6 13h4')
export const Undo2 = draw('M6 2.5 2.5 6 6 9.5M2.5 6H10a3.75 3.75 0 0 1 0 7.5H6.5')
export const UserPlus = draw(`${PERSON}M13 5.5v4M11 7.5h4`)
export const UserRound = draw('M8 2a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM2.5 14a5.5 5.5 0 0 1 11 0')
export const Users = draw(`${PERSON}M10.5 2.8a2.75 2.75 0 0 1 0 5M12.5 9.3a5 5 0 0 1 2.5 4.2`)
export const Variable = draw('M4.5 2.5c-2.5 3-2.5 8 0 11M11.5 2.5c2.5 3 2.5 8 0 11M6 6l4 4M10 6l-4 4')
export const Webhook = draw(
  'M8 2a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM3.5 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM12.5 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM7 5.8l-2.5 4.4M9 5.8l2.5 4.4M5.5 12h5',
)
export const X = draw('M4 4l8 8M12 4l-8 8')
export const Zap = draw('M9 1.5 3 9h4.5L7 14.5 13 7H8.5z')
