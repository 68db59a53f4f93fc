/** The local date, told once a day. */

/** `2026-03-01` where the process runs. */
export const localDate = (at: number): string => {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
};

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
export const dateReminder = (date: string, isFirst: boolean): string => {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  const weekday = DAYS[new Date(year, month - 1, day).getDay()] ?? '';
  return isFirst ? `Today is ${weekday}, ${date}.` : `The date has changed: today is ${weekday}, ${date}.`;
};

/** Whether there is a date to tell: the first, or a later one. A clock that was set back says nothing. */
export const isDue = (today: string, told: string | null): boolean => told === null || today > told;
