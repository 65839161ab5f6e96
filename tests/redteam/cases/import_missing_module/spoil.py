import seaborn_is_not_here as sns
import matplotlib_is_not_here.pyplot as plt, math

sns.set_theme()
figure, (left, right) = plt.subplots(1, 2)
for axis in (left, right):
    axis.plot([math.pi])
plt.show()
