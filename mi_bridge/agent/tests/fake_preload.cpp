// Stands for the interposer: what matters is that it gets loaded.
extern "C" {
int pfTestPreloaded = 1;
}
