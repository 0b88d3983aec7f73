/** Controls that more than one part of the page has. */
import type {
  ButtonHTMLAttributes,
  ComponentChildren,
  HTMLAttributes,
  InputHTMLAttributes,
  RefObject,
  TargetedKeyboardEvent,
  TargetedToggleEvent,
} from 'preact'
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { type Choices, foundIn } from './choices.ts'
import { copy } from './copy.ts'

interface MenuProps {
  label: string
  choices: Choices
  chosen: string
  /** Called with the value that a person chooses. */
  act(value: string): void
  class?: string
  title?: string
}

/** From so many on a menu has a search. */
const many = 12

export function Menu(props: MenuProps) {
  return props.choices.length < many ? <Select {...props} /> : <SearchedMenu {...props} />
}

/** A menu of the browser's own, for a few. */
export function Select({ label, choices, chosen, act, ...rest }: MenuProps) {
  return (
    <select aria-label={label} value={chosen} onChange={event => act(event.currentTarget.value)} {...rest}>
      {choices.map(([value, text]) => (
        <option key={value} value={value} title={text}>
          {text}
        </option>
      ))}
    </select>
  )
}

interface SearchedMenuProps extends Omit<MenuProps, 'choices'> {
  /** Made when it opens, where that takes its time. */
  choices: Choices | (() => Choices)
  /** What is chosen, in words; by default as the choices have it. */
  text?: string
}

export function SearchedMenu({ label, choices, chosen, act, text, ...rest }: SearchedMenuProps) {
  const known = typeof choices === 'function' ? [] : choices
  const said = text ?? known.find(([value]) => value === chosen)?.[1] ?? chosen
  return (
    <Popover label={`${label}: ${said}`} face={<span>{said}</span>} {...rest}>
      {close => (
        <Choose
          label={label}
          choices={typeof choices === 'function' ? choices() : choices}
          chosen={chosen}
          choose={value => {
            close()
            if (value !== chosen) act(value)
          }}
        />
      )}
    </Popover>
  )
}

interface ChooseProps {
  label: string
  choices: Choices
  chosen: string
  choose(value: string): void
}

/** A list that shrinks as one writes; arrows and Enter choose in it. */
export function Choose({ label, choices, chosen, choose }: ChooseProps) {
  const id = useId()
  const [sought, at] = [useSignal(''), useSignal(choices.findIndex(([value]) => value === chosen))]
  const [list, input] = [useRef<HTMLUListElement>(null), useRef<HTMLInputElement>(null)]
  useLayoutEffect(() => input.current!.focus(), [])
  const found = foundIn(choices, sought.value)
  const active = Math.max(0, Math.min(at.value, found.length - 1))
  useLayoutEffect(() => list.current!.children[active]?.scrollIntoView({ block: 'nearest' }))
  const key = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + 10, PageUp: active - 10 }[
      event.key
    ]
    if (to === undefined && event.key !== 'Enter') return
    event.preventDefault()
    if (to !== undefined) at.value = to
    else if (found[active]) choose(found[active][0])
  }
  return (
    <>
      <TextInput
        type="search"
        ref={input}
        autofocus // at once, by the browser: what is typed next is meant for it
        aria-label={`Find: ${label}`}
        placeholder="Find"
        aria-controls={id}
        aria-activedescendant={found[active] && `${id}-${active}`}
        write={text => {
          sought.value = text
          at.value = 0
        }}
        onKeyDown={key}
      />
      <ul role="listbox" aria-label={label} id={id} ref={list}>
        {found.map(([value, text, key], i) => (
          <li
            key={value}
            id={`${id}-${i}`}
            role="option"
            class={i === active ? 'active' : undefined}
            aria-selected={value === chosen}
            onClick={() => choose(value)}>
            {text}
            {key && <kbd>{key}</kbd>}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="hint">Nothing has it.</p>}
    </>
  )
}

interface PopoverProps {
  label: string
  /** What is on the button. */
  face: ComponentChildren
  class?: string | undefined
  title?: string | undefined
  children(close: () => void): ComponentChildren
}

/** A button, and what it opens beside it over the page (`controls.css`); Esc and a press elsewhere close it. */
export function Popover({ label, face, children, class: name = '', title }: PopoverProps) {
  const id = useId()
  const isOpen = useSignal(false)
  const place = useRef<HTMLDivElement>(null)
  const open = ({ newState }: TargetedToggleEvent<HTMLDivElement>) => {
    if (newState === 'open') isOpen.value = true
  }
  // What has the focus goes once the button has it again.
  const toggled = ({ newState }: TargetedToggleEvent<HTMLDivElement>) => {
    if (newState === 'closed') isOpen.value = false
    else place.current!.querySelector<HTMLElement>('input, button')?.focus()
  }
  return (
    <>
      <button type="button" class={`opens ${name}`} aria-label={label} title={title} popovertarget={id}>
        {face}
      </button>
      <div
        ref={place}
        popover="auto"
        id={id}
        class="popover"
        onBeforeToggle={open}
        onToggle={toggled}
        onKeyDown={event => event.stopPropagation()} /* keys of the page are not meant here */
      >
        {isOpen.value && children(() => place.current!.hidePopover())}
      </div>
    </>
  )
}

interface ButtonProps extends ButtonHTMLAttributes {
  /** `null` = there is nothing to press, and it is a text. */
  press: (() => void) | null
  /** What it does, where its face does not say it: on hover, and for screen readers. */
  label?: string
}

/** One that does not send a form. */
export function Button({ press, label, ...rest }: ButtonProps) {
  const named = label === undefined ? rest : { title: label, 'aria-label': label, ...rest }
  if (!press) return <span {...(named as HTMLAttributes<HTMLSpanElement>)} />
  return <button type="button" onClick={() => press()} {...named} />
}

interface ChoiceProps extends Omit<HTMLAttributes<HTMLDivElement>, 'label'> {
  choices: Choices
  chosen: string
  act(value: string): void
}

/** A few side by side, of which one holds. */
export function Choice({ choices, chosen, act, ...rest }: ChoiceProps) {
  return (
    <div class="choice" role="group" {...rest}>
      {choices.map(([value, text]) => (
        <Button key={value} aria-pressed={value === chosen} press={() => act(value)}>
          {text}
        </Button>
      ))}
    </div>
  )
}

type TextInputProps = InputHTMLAttributes & { write(text: string): void }

/** Its text is not prose: the browser neither completes nor corrects it. */
export function TextInput({ write, ...rest }: TextInputProps) {
  return (
    <input
      type="text"
      autocomplete="off"
      spellcheck={false}
      onInput={({ currentTarget }) => write(currentTarget.value)}
      {...rest}
    />
  )
}

/** Searches in what is on the page. */
export function SearchField({ label, text }: { label: string; text: Signal<string> }) {
  const write = (to: string) => (text.value = to)
  return <TextInput type="search" placeholder={label} aria-label={label} value={text} write={write} />
}

interface CopyProps {
  name: string
  text(): string
  title?: string
  'aria-label'?: string
  disabled?: boolean
  hidden?: boolean
}

/** A button that copies, and says so in its own place. */
export function Copy({ name, text, ...rest }: CopyProps) {
  const said = useSignal('')
  const element = useRef<HTMLButtonElement>(null)
  const press = async () => {
    element.current!.style.minWidth = `${element.current!.offsetWidth}px` // its neighbours stay where one points
    said.value = (await copy(text())) ? 'Copied' : 'Not copied'
    setTimeout(() => (said.value = ''), 1500)
  }
  return (
    <button type="button" ref={element} onClick={() => void press()} {...rest}>
      {said.value || name}
    </button>
  )
}

export function drag(
  event: PointerEvent & { readonly currentTarget: HTMLElement },
  moved: (by: number) => void,
  done: (by: number) => void,
): void {
  event.preventDefault()
  const { clientX: from, currentTarget: grip, pointerId } = event
  grip.setPointerCapture(pointerId)
  const move = ({ clientX }: PointerEvent) => moved(clientX - from)
  const end = ({ clientX, type }: PointerEvent) => {
    grip.removeEventListener('pointermove', move)
    done(type === 'pointercancel' ? 0 : clientX - from)
  }
  grip.addEventListener('pointermove', move)
  grip.addEventListener('pointerup', end, { once: true })
  grip.addEventListener('pointercancel', end, { once: true })
}

/** Called while an element of what scrolls in `root` is in sight, or will soon be; asked again as `deps` change. */
export function useNear(
  element: RefObject<HTMLElement | null>,
  root: RefObject<HTMLElement | null>,
  near: () => void,
  deps: unknown[],
): void {
  useEffect(() => {
    const seen = (all: IntersectionObserverEntry[]) => all.at(-1)!.isIntersecting && near()
    const watch = new IntersectionObserver(seen, { root: root.current, rootMargin: '600px' })
    watch.observe(element.current!)
    return () => watch.disconnect()
  }, deps)
}
