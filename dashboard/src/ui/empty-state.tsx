import type { ReactNode } from 'react'
import type { Icon } from './icons.tsx'

/** The placeholder of an empty screen. Its children hold one primary action. */
export function EmptyState({
  icon: Icon,
  title,
  text,
  children,
}: {
  icon: Icon
  title: string
  text: ReactNode
  children?: ReactNode
}) {
  return (
    <div className="flex flex-col items-center gap-2 rounded-lg border border-dashed px-6 py-12 text-center">
      <Icon aria-hidden className="size-6 text-muted" />
      <p className="text-14 font-semibold">{title}</p>
      <p className="max-w-[52ch] text-muted">{text}</p>
      <div className="mt-2 flex flex-wrap justify-center gap-2">{children}</div>
    </div>
  )
}
